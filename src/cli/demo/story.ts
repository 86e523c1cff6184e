// The demo's story in the terminal: what the daemon sees, does and announces, in the order in which it happens.

import type { Action } from '../../core/action.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { secondMs } from '../../core/time.ts';
import { explainVerdict } from '../../core/wording/explain.ts';
import { counted, spanText } from '../../core/wording/phrases.ts';
import type { Clock } from '../../world/world.ts';
import { wrapped } from '../terminal.ts';
import type { Received } from './receiver.ts';

/** Where the parts of the demo are. */
interface Beginning {
  readonly page: string;
  readonly simulator: string;
  readonly key: string;
  readonly speed: number;
  /** The words that start a command for the demo's daemon. */
  readonly command: string;
}

export interface Story {
  begin(beginning: Beginning): void;
  /** Tells what is new in the fleet since the last look. */
  look(fleet: Fleet): void;
  /** A message arrived at the receiver. */
  received(message: Received): void;
  /** A plain line. */
  say(text: string): void;
}

export interface StoryOptions {
  readonly write: (text: string) => void;
  readonly colour: boolean;
  readonly clock: Clock;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const indent = ' '.repeat(11);
/** Letters in a line, on any terminal. */
const width = 80;
const widthOfText = width - indent.length;

type Paint = (code: number, text: string) => string;

/** What the demo is, where to look, and how to ask it. */
function greeting({ page, simulator, key, speed, command }: Beginning, paint: Paint): string {
  return [
    '',
    `${paint(1, 'Warmwarden')} guards the warm-up of email mailboxes.`,
    `In this demo it guards a simulated fleet: one second here is ${spanText(speed * secondMs)} there.`,
    'Times are in UTC, on the clock of the fleet.',
    '',
    `  status page   ${paint(36, `${page}/`)}`,
    `  metrics       ${paint(36, `${page}/metrics`)}`,
    `  mailbox API   ${paint(36, `${simulator}/v1/health`)}`,
    `  API key       ${key}`,
    '',
    'In another terminal:',
    `  ${command} status`,
    '',
    'Ctrl-C ends the demo.',
    '',
  ].join('\n');
}

export function createStory({ write, colour, clock }: StoryOptions): Story {
  const paint: Paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const bold = (text: string) => paint(1, text);
  const dim = (text: string) => paint(2, text);
  const seen = new Set<string>();
  const outcomes = new Map<Action['kind'], string>();
  let greeted = false;
  let concluded = false;

  const moment = () => {
    const at = new Date(clock.now());
    return `${weekdays[at.getUTCDay()]} ${at.toISOString().slice(11, 16)}`;
  };
  const event = (mark: string, title: string, text: string) => {
    write(`\n${dim(moment())}  ${mark} ${bold(title)}\n`);
    for (const line of wrapped(text, widthOfText)) write(`${indent}${line}\n`);
  };
  const acted = (action: Action) => {
    const took = action.openedAt && action.settledAt ? ((action.settledAt - action.openedAt) / 1_000).toFixed(1) : '0';
    const { email, kind } = action;
    const done = kind === 'pause' ? `PAUSED the warm-up of ${email}` : `switched ${email} to RECOVERY mode`;
    const mark = action.kind === 'pause' ? paint(31, '■') : paint(33, '▼');
    event(mark, `Warmwarden ${done}`, `${explainVerdict(action.verdict)} Read back after ${took} s.`);
    outcomes.set(action.kind, action.email);
  };
  const conclude = () => {
    concluded = true;
    write(
      `\n${paint(32, '✔')} ${bold('One mailbox is in recovery mode, one is paused, and both alerts were sent.')}\n`,
    );
    write('  The daemon continues. Look at the status page, or press Ctrl-C to end the demo.\n');
  };

  return {
    begin: (addresses) => write(greeting(addresses, paint)),
    look(fleet) {
      const judged = [...fleet.mailboxes()].filter((mailbox) => mailbox.verdict !== null);
      if (!greeted && judged.length > 0 && judged.length === fleet.mailboxCount()) {
        greeted = true;
        event(
          paint(32, '●'),
          `Warmwarden guards ${counted(judged.length, 'mailbox', 'mailboxes')}`,
          'All of them are within their bounce limits. Their sending day begins.',
        );
      }
      for (const action of [...fleet.recentActions()].reverse()) {
        if (action.state !== 'confirmed' || seen.has(action.id)) continue;
        seen.add(action.id);
        acted(action);
      }
    },
    received(message) {
      if (message.kind === 'webhook') {
        const signature = message.signed ? 'signature verified' : 'SIGNATURE WRONG';
        const text = `The webhook received ${message.type}: ${message.bytes} bytes, ${signature}, id ${message.id}`;
        for (const line of wrapped(text, widthOfText)) write(`${indent}${dim(line)}\n`);
      } else {
        write(`\n${indent}${dim(`${moment()}, in Slack:`)}\n`);
        for (const line of wrapped(message.title, widthOfText - 2)) write(`${indent}${dim('│')} ${bold(line)}\n`);
        const lines = message.lines.flatMap(({ text, command }) =>
          command ? [`  ${text}`] : wrapped(text, widthOfText - 2),
        );
        for (const line of lines) write(`${indent}${dim('│')} ${line}\n`);
      }
      if (!concluded && outcomes.has('recovery') && outcomes.has('pause') && message.kind === 'webhook') conclude();
    },
    say: (text) => write(`\n${text}\n`),
  };
}
