// A process that sends what a store holds, and kills itself (SIGKILL) at the step it is told. Arguments: the store, the
// channel as JSON, the number of the step. It prints the steps that it reaches.
import { writeSync } from 'node:fs';
import { sendAll } from './sending.ts';

const [, , path = '', settings = '{}', killAt = ''] = process.argv;
let step = 0;

await sendAll(path, JSON.parse(settings), (name) => {
  step += 1;
  writeSync(1, `${name}\n`);
  if (step === Number(killAt)) process.kill(process.pid, 'SIGKILL');
});
