// Until when messages about an alert are muted, and by whom, as the terminal's lists of alerts say it.
import { visibleText } from '../wording/visible-text.ts';
import { localMoment } from './local-time.ts';

/** `until 20 March 10:02 UTC by anna`. */
export function silencedText({ by, until }: { readonly by: string; readonly until: string }): string {
  return `until ${localMoment(until)} by ${visibleText(by)}`;
}
