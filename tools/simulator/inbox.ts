// The alerts that a daemon sends to the simulator's own channel, as the simulator's terminal shows them.
import { plainWriter } from '../../src/channels/message-text.ts';
import { readSlack } from './slack-message.ts';

/** A section of a message for Slack, the longest of which has 3,000, is there as a whole: half a command might run. */
const maxLine = 3_000;

/** `now` is in epoch milliseconds. A body that is no message for Slack is shown as it is, its control characters hidden. */
export function receivedMessage(body: string, now: number): string {
  const time = new Date(now).toISOString().slice(11, 19);
  const [title, ...lines] = contentOf(body).map(printable);
  return ['', `${time} UTC  alert: ${title}`, ...lines.map((line) => `              ${line}`), ''].join('\n');
}

function contentOf(body: string): readonly string[] {
  try {
    const { title, lines } = readSlack(body);
    return [title, ...lines.map(({ text, command }) => (command ? `  ${text}` : text))];
  } catch {
    return body.split('\n').slice(0, 20);
  }
}

function printable(line: string): string {
  return plainWriter.text(line.replace(/\p{Cc}/gu, ' '), maxLine);
}
