//! Queue and journal over an engine.

use crate::MOST_LOST;
use crate::engine::{Cell, Engine, Row};
use crate::error::StoreError;
use crate::model::{
    Claim, Done, Finish, Population, Progress, State, Study, StudyEntry, StudyId, Task, Worker,
};
use crate::statements::Texts;
use crate::{schema, token};
use std::time::Duration;

/// Tasks of one statement that pushes: engines have a limit of parameters.
const TASKS_AT_ONCE: usize = 500;

/// A queue of tasks and the journal of their results.
pub trait Journal: Send {
    /// Begins a study, or goes on with the one of this name.
    ///
    /// # Errors
    /// If the study of this name has another fingerprint or GPU, or with the database.
    fn begin(&mut self, study: &Study) -> Result<StudyId, StoreError>;

    /// The study of a name.
    ///
    /// # Errors
    /// If there is none, with the names that there are, or with the database.
    fn study(&mut self, name: &str) -> Result<StudyEntry, StoreError>;

    /// All studies, oldest first.
    ///
    /// # Errors
    /// With the database.
    fn studies(&mut self) -> Result<Vec<StudyEntry>, StoreError>;

    /// Adds tasks; those that are there already stay as they are.
    ///
    /// # Errors
    /// If a task was pushed before with another payload, or with the database.
    fn push(&mut self, study: StudyId, tasks: &[Task]) -> Result<(), StoreError>;

    /// Claims the first task that waits or whose lease expired. `None`: nothing to do now.
    ///
    /// # Errors
    /// If the worker's GPU is not the study's, or with the database.
    fn claim(
        &mut self,
        study: StudyId,
        worker: &Worker,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError>;

    /// Renews the lease. False: the task is not this worker's any more.
    ///
    /// # Errors
    /// With the database.
    fn heartbeat(&mut self, claim: &Claim) -> Result<bool, StoreError>;

    /// Ends a task with its result.
    ///
    /// # Errors
    /// With the database.
    fn finish(&mut self, claim: &Claim, result: &str) -> Result<Finish, StoreError>;

    /// Gives a task back, so that another worker takes it at once. False: it was not this worker's any more.
    ///
    /// # Errors
    /// With the database.
    fn release(&mut self, claim: &Claim) -> Result<bool, StoreError>;

    /// Tasks that ended, in the order of their ends, after the one with this number; 0: all.
    ///
    /// # Errors
    /// With the database.
    fn results(&mut self, study: StudyId, after: u64) -> Result<Vec<Done>, StoreError>;

    /// Whether a study has work.
    ///
    /// # Errors
    /// If the study does not exist, or with the database.
    fn state(&mut self, study: StudyId) -> Result<State, StoreError>;

    /// Counts of a study's tasks.
    ///
    /// # Errors
    /// If the study does not exist, or with the database.
    fn progress(&mut self, study: StudyId) -> Result<Progress, StoreError>;

    /// Ends a study: its workers end after the task they have.
    ///
    /// # Errors
    /// If the study does not exist, or with the database.
    fn close(&mut self, study: StudyId) -> Result<(), StoreError>;

    /// Interrupts a study: its workers end after the task they have.
    ///
    /// # Errors
    /// If the study does not exist, or with the database.
    fn stop(&mut self, study: StudyId) -> Result<(), StoreError>;
}

/// The one implementation.
pub(crate) struct Queue<E> {
    engine: E,
    texts: Texts,
}

impl<E: Engine> Queue<E> {
    /// Over an engine, whose tables it makes.
    pub(crate) fn new(mut engine: E) -> Result<Queue<E>, StoreError> {
        schema::migrate(&mut engine)?;
        let texts = Texts::new(&engine.dialect(), MOST_LOST);
        Ok(Queue { engine, texts })
    }

    fn entry(&mut self, id: StudyId) -> Result<StudyEntry, StoreError> {
        let rows = self.engine.rows(&self.texts.study, &[id.0.into()])?;
        match rows.first() {
            Some(row) => self.study_of(row),
            None => Err(self.no_study(&id.0.to_string())),
        }
    }

    fn no_study(&mut self, name: &str) -> StoreError {
        let names = match self.studies() {
            Ok(all) if all.is_empty() => "none yet".to_owned(),
            Ok(all) => all.iter().map(|it| format!("`{}`", it.study.name)).collect::<Vec<_>>().join(", "),
            Err(error) => return error,
        };
        StoreError::NoStudy { name: name.to_owned(), known: names }
    }

    fn study_of(&self, row: &Row) -> Result<StudyEntry, StoreError> {
        let [
            Cell::Integer(id),
            Cell::Text(name),
            Cell::Text(fingerprint),
            Cell::Text(settings),
            bound,
            mixed,
            state,
        ] = &row[..]
        else {
            return Err(self.unreadable("tune_studies"));
        };
        let population = match (bound, mixed) {
            (_, Cell::Integer(1)) => Population::Any,
            (Cell::Text(it), _) => Population::Only(it.clone()),
            _ => Population::First,
        };
        let state = match state {
            Cell::Integer(0) => State::Open,
            Cell::Integer(1) => State::Stopped,
            _ => State::Closed,
        };
        let study = Study {
            name: name.clone(),
            fingerprint: fingerprint.clone(),
            settings: settings.clone(),
            population,
        };
        Ok(StudyEntry { id: StudyId(*id), study, state })
    }

    fn unreadable(&self, table: &str) -> StoreError {
        let why = format!("a row of `{table}` is not as this version writes it");
        StoreError::Engine { place: self.engine.place().to_owned(), why }
    }

    fn set_state(&mut self, study: StudyId, state: i64) -> Result<(), StoreError> {
        match self.engine.rows(&self.texts.set_state, &[study.0.into(), state.into()])?.is_empty() {
            true => Err(self.no_study(&study.0.to_string())),
            false => Ok(()),
        }
    }

    fn claim_once(
        &mut self,
        study: StudyId,
        worker: &Worker,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let token = token::new();
        let milliseconds = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        let cells = [
            study.0.into(),
            token.as_str().into(),
            worker.name.as_str().into(),
            worker.population.as_str().into(),
            milliseconds.into(),
        ];
        let mut rows = self.engine.rows(&self.texts.claim, &cells)?;
        if self.engine.repeated() {
            // The statement may have claimed a task before the connection was lost, and another one when it ran again.
            rows = self.engine.rows(&self.texts.claimed, &cells[..2])?;
            for more in rows.iter().skip(1) {
                let held = [study.0.into(), more[0].clone(), token.as_str().into()];
                self.engine.rows(&self.texts.release, &held)?;
            }
        }
        match rows.first().map(|it| &it[..]) {
            None => Ok(None),
            Some([Cell::Integer(sequence), Cell::Text(payload), Cell::Integer(attempt)]) => Ok(Some(Claim {
                study,
                sequence: unsigned(*sequence),
                payload: payload.clone(),
                attempt: u32::try_from(*attempt).unwrap_or(u32::MAX),
                lease,
                token,
            })),
            Some(_) => Err(self.unreadable("tune_tasks")),
        }
    }

    /// Ends tasks that lost too many workers, and mends leases after the clock went back.
    fn sweep(&mut self, study: StudyId) -> Result<(), StoreError> {
        let Queue { engine, texts } = self;
        engine.rows(&texts.mend_clock, &[study.0.into()])?;
        for row in engine.rows(&texts.overdue, &[study.0.into()])? {
            let cells = [study.0.into(), row[0].clone()];
            engine.transaction(&mut |statements| {
                // The study is locked first, as every end does.
                statements.rows(&texts.lock_number, &cells[..1])?;
                if !statements.rows(&texts.give_up, &cells)?.is_empty() {
                    statements.rows(&texts.count_finish, &cells[..1])?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl<E: Engine> Journal for Queue<E> {
    fn begin(&mut self, study: &Study) -> Result<StudyId, StoreError> {
        let (asked, mixed) = match &study.population {
            Population::Only(it) => (Some(it.as_str()), 0),
            Population::First => (None, 0),
            Population::Any => (None, 1),
        };
        let name: Cell = study.name.as_str().into();
        let settings: Cell = study.settings.as_str().into();
        let texts = &self.texts;
        let unreadable = self.unreadable("tune_studies");
        let mut found = None;
        self.engine.transaction(&mut |statements| {
            let new = [
                name.clone(),
                study.fingerprint.as_str().into(),
                settings.clone(),
                asked.into(),
                mixed.into(),
            ];
            statements.rows(&texts.add_study, &new)?;
            let rows = statements.rows(&texts.lock_study, std::slice::from_ref(&name))?;
            let Some([Cell::Integer(id), Cell::Text(fingerprint), bound, Cell::Integer(was_mixed)]) =
                rows.first().map(|it| &it[..])
            else {
                return Err(unreadable.clone());
            };
            if *fingerprint != study.fingerprint {
                return Err(StoreError::OtherStudy { name: study.name.clone() });
            }
            let population = match (bound, asked) {
                (Cell::Text(bound), Some(asked)) if bound != asked && *was_mixed == 0 => {
                    let (study, bound, population) = (study.name.clone(), bound.clone(), asked.to_owned());
                    return Err(StoreError::OtherPopulation { study, bound, population });
                }
                (Cell::Null, Some(asked)) => asked.into(),
                (bound, _) => bound.clone(),
            };
            let opened = [(*id).into(), settings.clone(), population, mixed.max(*was_mixed).into()];
            statements.rows(&texts.open_study, &opened)?;
            found = Some(StudyId(*id));
            Ok(())
        })?;
        found.ok_or(unreadable)
    }

    fn study(&mut self, name: &str) -> Result<StudyEntry, StoreError> {
        match self.studies()?.into_iter().find(|it| it.study.name == name) {
            Some(it) => Ok(it),
            None => Err(self.no_study(name)),
        }
    }

    fn studies(&mut self) -> Result<Vec<StudyEntry>, StoreError> {
        let rows = self.engine.rows(&self.texts.studies, &[])?;
        rows.iter().map(|row| self.study_of(row)).collect()
    }

    fn push(&mut self, study: StudyId, tasks: &[Task]) -> Result<(), StoreError> {
        let name = self.entry(study)?.study.name;
        let texts = &self.texts;
        self.engine.transaction(&mut |statements| {
            for some in tasks.chunks(TASKS_AT_ONCE) {
                let mut cells = vec![study.0.into()];
                let mut rows = Vec::new();
                for task in some {
                    rows.push(format!("(?1, ?{}, ?{})", cells.len() + 1, cells.len() + 2));
                    cells.extend([signed(task.sequence).into(), task.payload.as_str().into()]);
                }
                let insert = format!(
                    "{}{} ON CONFLICT (study, sequence) DO NOTHING RETURNING sequence",
                    texts.push,
                    rows.join(", ")
                );
                if statements.rows(&insert, &cells)?.len() == some.len() {
                    continue;
                }
                let (least, most) = some
                    .iter()
                    .fold((u64::MAX, 0), |(least, most), it| (least.min(it.sequence), most.max(it.sequence)));
                let range = [study.0.into(), signed(least).into(), signed(most).into()];
                for row in statements.rows(&texts.payloads, &range)? {
                    let [Cell::Integer(sequence), Cell::Text(before)] = &row[..] else { continue };
                    let sequence = unsigned(*sequence);
                    if let Some(it) = some.iter().find(|it| it.sequence == sequence && it.payload != *before)
                    {
                        let (study, before, now) = (name.clone(), before.clone(), it.payload.clone());
                        return Err(StoreError::OtherTask { study, sequence, before, now });
                    }
                }
            }
            Ok(())
        })
    }

    fn claim(
        &mut self,
        study: StudyId,
        worker: &Worker,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        if let Some(claim) = self.claim_once(study, worker, lease)? {
            return Ok(Some(claim));
        }
        let entry = self.entry(study)?;
        match entry.study.population {
            Population::First if entry.state == State::Open => {
                self.engine
                    .rows(&self.texts.bind_study, &[study.0.into(), worker.population.as_str().into()])?;
                self.claim(study, worker, lease)
            }
            Population::Only(bound) if bound != worker.population => Err(StoreError::OtherPopulation {
                study: entry.study.name,
                bound,
                population: worker.population.clone(),
            }),
            _ => self.sweep(study).map(|()| None),
        }
    }

    fn heartbeat(&mut self, claim: &Claim) -> Result<bool, StoreError> {
        Ok(!self.engine.rows(&self.texts.beat, &proof(claim))?.is_empty())
    }

    fn finish(&mut self, claim: &Claim, result: &str) -> Result<Finish, StoreError> {
        let mut cells = proof(claim).to_vec();
        cells.push(result.into());
        let texts = &self.texts;
        let mut kept = false;
        if self.engine.dialect().nests_changes {
            kept = !self.engine.rows(&texts.finish_at_once, &cells)?.is_empty();
        } else {
            self.engine.transaction(&mut |statements| {
                kept = !statements.rows(&texts.finish, &cells)?.is_empty();
                if kept {
                    statements.rows(&texts.count_finish, &cells[..1])?;
                }
                Ok(())
            })?;
        }
        // A statement that was repeated may have ended the task the first time.
        kept = kept || !self.engine.rows(&texts.finished_by, &cells[..3])?.is_empty();
        Ok(if kept { Finish::Kept } else { Finish::Late })
    }

    fn release(&mut self, claim: &Claim) -> Result<bool, StoreError> {
        Ok(!self.engine.rows(&self.texts.release, &proof(claim))?.is_empty())
    }

    fn results(&mut self, study: StudyId, after: u64) -> Result<Vec<Done>, StoreError> {
        let cells = [study.0.into(), signed(after).into()];
        let mut rows = self.engine.rows(&self.texts.results, &cells)?;
        if rows.is_empty() {
            // Without a living worker, this ends tasks that killed their workers.
            self.sweep(study)?;
            rows = self.engine.rows(&self.texts.results, &cells)?;
        }
        rows.iter().map(|row| done(row).ok_or_else(|| self.unreadable("tune_tasks"))).collect()
    }

    fn state(&mut self, study: StudyId) -> Result<State, StoreError> {
        self.entry(study).map(|it| it.state)
    }

    fn progress(&mut self, study: StudyId) -> Result<Progress, StoreError> {
        let state = self.state(study)?;
        let rows = self.engine.rows(&self.texts.progress, &[study.0.into()])?;
        match rows.first().map(|it| &it[..]) {
            Some(
                [Cell::Integer(waiting), Cell::Integer(claimed), Cell::Integer(done), Cell::Integer(lost)],
            ) => Ok(Progress {
                state,
                waiting: unsigned(*waiting),
                claimed: unsigned(*claimed),
                done: unsigned(*done),
                lost: unsigned(*lost),
            }),
            _ => Err(self.unreadable("tune_tasks")),
        }
    }

    fn close(&mut self, study: StudyId) -> Result<(), StoreError> {
        self.set_state(study, 2)
    }

    fn stop(&mut self, study: StudyId) -> Result<(), StoreError> {
        self.set_state(study, 1)
    }
}

fn proof(claim: &Claim) -> [Cell; 3] {
    [claim.study.0.into(), signed(claim.sequence).into(), claim.token.as_str().into()]
}

fn signed(it: u64) -> i64 {
    i64::try_from(it).unwrap_or(i64::MAX)
}

fn unsigned(it: i64) -> u64 {
    u64::try_from(it).unwrap_or(0)
}

fn done(row: &Row) -> Option<Done> {
    let [
        Cell::Integer(order),
        Cell::Integer(sequence),
        Cell::Text(payload),
        result,
        failure,
        worker,
        population,
        Cell::Integer(attempt),
        started,
        ended,
    ] = &row[..]
    else {
        return None;
    };
    let text = |cell: &Cell| match cell {
        Cell::Text(it) => it.clone(),
        _ => String::new(),
    };
    let number = |cell: &Cell| match cell {
        Cell::Integer(it) => *it,
        _ => 0,
    };
    Some(Done {
        order: unsigned(*order),
        sequence: unsigned(*sequence),
        payload: payload.clone(),
        result: match result {
            Cell::Text(it) => Ok(it.clone()),
            _ => Err(text(failure)),
        },
        worker: text(worker),
        population: text(population),
        attempt: u32::try_from(*attempt).unwrap_or(u32::MAX),
        started_ms: number(started),
        ended_ms: number(ended),
    })
}
