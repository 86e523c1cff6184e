// A decision in two or three words, as a label: what is done, and why.
import type { Verdict, VerdictAction } from '../model/verdict.ts';

/** `no action`, `hold`, `recovery`, ... */
export function actionWord(action: VerdictAction): string {
  return action === 'none' ? 'no action' : action;
}

/** `no action (already paused)`, `pause (bounce rate over limit)`: the words of the JSON, as people read them. */
export function decisionWords({ action, reason }: Pick<Verdict, 'action' | 'reason'>): string {
  return `${actionWord(action)} (${reasonWords(reason)})`;
}

/** `bounce rate over limit` */
export function reasonWords(reason: string): string {
  return reason.replaceAll('_', ' ');
}
