// task_failing: a task that Warmwarden repeats keeps failing, and the store is not the cause.
import { noAccount } from '../../core/alert.ts';
import { defaultRuleSettings } from '../../core/rule-settings.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, momentText } from '../../core/wording/phrases.ts';
import { accountSubject, type Condition } from '../condition.ts';

interface FailingTask {
  readonly task: string;
  readonly since: EpochMs;
}

/** `isStoreFailing`: then a failure of a task says nothing about the task. */
export function taskFailing(tasks: readonly FailingTask[], isStoreFailing: boolean, zone: string): Condition {
  const [first] = tasks;
  const { severity, forMs } = defaultRuleSettings.of.task_failing;
  return {
    subject: accountSubject('task_failing', noAccount),
    severity,
    active: isStoreFailing ? 'unknown' : first !== undefined,
    forMs,
    observations: 1,
    clearObservations: 1,
    ...(first && { since: first.since }),
    facts: {
      title: first
        ? `${counted(tasks.length, 'task')} of Warmwarden ${tasks.length === 1 ? 'keeps' : 'keep'} failing`
        : 'all tasks of Warmwarden work again',
      sentences: first
        ? [
            ...tasks.map(({ task, since }) => `The task "${task}" has failed since ${momentText(since, zone)}.`),
            'Warmwarden retries every few seconds. The log has the error. Restart Warmwarden, and report the error if it comes back.',
          ]
        : [],
      numbers: { tasks: tasks.length },
    },
  };
}
