// The demo's story in the terminal: what the daemon sees, does and tells, in the order in which it happens.

import type { Fleet } from '../../fleet/fleet.ts';
import type { Action } from '../../model/action.ts';
import { explainVerdict } from '../../wording/explain.ts';
import type { Clock } from '../../world.ts';
import type { Received } from './receiver.ts';

export interface Story {
  begin(addresses: { page: string; simulator: string; key: string; speed: number }): void;
  /** Tells what is new in the fleet since the last look. */
  look(fleet: Fleet): void;
  /** A message arrived at the receiver. */
  told(message: Received): void;
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
const widthOfText = 100;

/** Breaks a text at spaces, so that a terminal does not break it within a word. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

type Paint = (code: number, text: string) => string;

/** What the demo is, and where to look. */
function greeting({ page, simulator, key, speed }: Parameters<Story['begin']>[0], paint: Paint): string {
  return [
    '',
    `${paint(1, 'Warmwarden')}: guards the warm-up of email mailboxes. A demo on a simulated mailbox API;`,
    `one second is ${Math.round(speed / 60)} minutes of its life.`,
    '',
    `  status page   ${paint(36, `${page}/`)}`,
    `  metrics       ${paint(36, `${page}/metrics`)}`,
    `  mailbox API   ${paint(36, `${simulator}/v1/health`)}   key ${key}`,
    '  Ctrl-C        ends it',
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
    const done = action.kind === 'pause' ? 'warm-up PAUSED' : 'switched to RECOVERY mode';
    const mark = action.kind === 'pause' ? paint(31, '■') : paint(33, '▼');
    event(
      mark,
      `${action.email}: ${done}`,
      `${explainVerdict(action.verdict)} Read back after ${took} s: ${action.state}.`,
    );
    outcomes.set(action.kind, action.email);
  };
  const conclude = () => {
    concluded = true;
    write(`\n${paint(32, '✔')} ${bold('One mailbox in recovery, one paused, everybody told.')} `);
    write(`That is the whole job; the daemon goes on.\n  Look at the page now, or press Ctrl-C to end.\n`);
  };

  return {
    begin: (addresses) => write(greeting(addresses, paint)),
    look(fleet) {
      const judged = [...fleet.mailboxes()].filter((mailbox) => mailbox.verdict !== null);
      if (!greeted && judged.length > 0 && judged.length === fleet.mailboxCount()) {
        greeted = true;
        event(
          paint(32, '●'),
          `${judged.length} mailboxes on guard`,
          'All within their limits. Their sending day begins.',
        );
      }
      for (const action of [...fleet.recentActions()].reverse()) {
        if (action.state !== 'confirmed' || seen.has(action.id)) continue;
        seen.add(action.id);
        acted(action);
      }
    },
    told(message) {
      if (message.kind === 'webhook') {
        const signature = message.signed ? 'signature verified' : 'SIGNATURE WRONG';
        write(
          `${indent}${dim(`webhook got ${message.type}, ${message.bytes} bytes, ${signature}, id ${message.id}`)}\n`,
        );
      } else {
        write(`\n${indent}${dim(`${moment()}, in Slack:`)}\n`);
        write(`${indent}${dim('│')} ${bold(message.title)}\n`);
        for (const line of message.lines.flatMap((text) => wrapped(text, widthOfText - 2))) {
          write(`${indent}${dim('│')} ${line}\n`);
        }
      }
      if (!concluded && outcomes.has('recovery') && outcomes.has('pause') && message.kind === 'webhook') conclude();
    },
    say: (text) => write(`\n${text}\n`),
  };
}
