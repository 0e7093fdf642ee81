// The first tap of a finger on a word of the glossary shows what it means, the second one follows its link.
let shown = null;
document.addEventListener("click", (event) => {
  const word = event.target.closest('article a[href*="glossary.html#"]');
  if (word && word !== shown && event.pointerType === "touch") {
    event.preventDefault();
    word.focus();
  }
  shown = word;
});
