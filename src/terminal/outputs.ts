// What a command does when standard output or error cannot be written: most commands end, a server goes on.
import { exitFailed } from './exit-codes.ts';

let goesOn = false;

/** Called once, before anything is written. */
export function watchOutputs(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (goesOn) return;
    // A reader that has seen enough (`| head`) is no fault.
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`warmwarden: standard output could not be written: ${error.message}\n`);
    process.exit(exitFailed);
  });
  // What cannot be said on standard error can be said nowhere.
  process.stderr.on('error', () => {});
}

/** From now on the command does its work whether or not anybody reads what it writes. */
export function goOnWithoutOutputs(): void {
  goesOn = true;
}
