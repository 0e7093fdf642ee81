// Opens the request that the address names, and has the address name the one that was opened.

const requests = [...document.querySelectorAll("details.explained")];
const address = (fragment) => history.replaceState(null, "", location.href.split("#")[0] + fragment);

function follow() {
  const named = requests.find((node) => `#${node.id}` === location.hash);
  if (!named) return;
  named.open = true;
  named.scrollIntoView();
}

for (const node of requests) {
  node.addEventListener("toggle", () => {
    if (node.open) address(`#${node.id}`);
    else if (location.hash === `#${node.id}`) address("");
  });
}
addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.ready = "yes";
