//! A schedule written in Python. It answers with a decision of its view, which offers only what the die can carry out.

use std::sync::atomic::{AtomicU64, Ordering};

use harmonia_ssd::gc::schedule::{Decision, DieView, GivesWay, Needs, Pairs, Schedule};
use harmonia_types::registry::Parameters;
use harmonia_types::{SimDuration, SimTime};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::decision::Question;
use super::die::{PyDecision, PyDieView};
use super::lent::lend;
use super::object::Object;

/// Numbers the questions, so that an answer is known to be of its question.
static QUESTIONS: AtomicU64 = AtomicU64::new(0);

/// A schedule whose decisions are an object's.
#[derive(Clone)]
pub(super) struct PySchedule {
    object: Object,
    needs: Needs,
}

impl PySchedule {
    pub fn make(class: &Bound<'_, PyType>, parameters: &Parameters<'_>) -> PyResult<Self> {
        let py = class.py();
        let object = Object::make(class, parameters.own, &[])?;
        let names = ["queues", "pairs", "suspend", "begins_at_soft", "fresh_blocks"];
        let [queues, pairs, suspend, begins_at_soft, fresh_blocks] = object.flags(py, "needs", names)?;
        let ways = [
            ("never", GivesWay::Never),
            ("to-reads", GivesWay::ToReads),
            ("between-steps", GivesWay::BetweenSteps),
            ("always", GivesWay::Always),
        ];
        let deadlines: Option<u64> = object.attribute(py, "deadlines", "None or a time in nanoseconds")?;
        let needs = Needs {
            // It is asked for everything.
            steps_alone: false,
            steps_unmatched: false,
            moves_unasked: false,
            one_command: false,
            serves_head: false,
            // Whoever pairs or suspends looks for partners.
            queues: queues || pairs || suspend,
            pairs: if pairs { Pairs::Always } else { Pairs::Never },
            skips: false,
            suspend,
            begins_at_soft,
            fresh_blocks,
            deadlines: deadlines.map(SimDuration),
            gives_way: object.choice(py, "gives_way", &ways)?,
        };
        Ok(PySchedule { object, needs })
    }
}

impl Schedule for PySchedule {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let question = QUESTIONS.fetch_add(1, Ordering::Relaxed);
        self.object.ask("next", Some(now), |object| {
            let py = object.py();
            let asked = Question { view, number: question, now, needs: self.needs };
            let answer = lend::<PyDieView, _>(py, &asked, |view| {
                object.call_method1(intern!(py, "next"), (now.0, view))
            })?;
            let decided = answer.cast::<PyDecision>().ok().and_then(|decided| decided.get().of(question));
            let expected = "a decision of this view, such as view.serve_head() or view.collect()";
            decided.ok_or_else(|| self.object.wrong(&answer, "next", expected))
        })
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}
