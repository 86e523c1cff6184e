// A process that sends what a store holds, and kills itself (SIGKILL) at the step it is told. Arguments: the store, the
// channel as JSON, the step, and `muted` or `over` for a mute time. It prints the steps that it reaches, each with how often it was reached.
import { writeSync } from 'node:fs';
import { sendAll } from './sending.ts';

const [, , path = '', settings = '{}', killAt = '', night = ''] = process.argv;
const reached = new Map<string, number>();

const reach = (name: string) => {
  const times = (reached.get(name) ?? 0) + 1;
  reached.set(name, times);
  const step = `${name} ${times}`;
  writeSync(1, `${step}\n`);
  if (step === killAt) process.kill(process.pid, 'SIGKILL');
};

await sendAll(path, JSON.parse(settings), reach, night as 'muted' | 'over' | '');
