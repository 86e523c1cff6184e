// The command on a terminal of its own, as a person starts it: what the screen shows, and what is typed.
import { type ChildProcess, spawn } from 'node:child_process';
import { bin, node, root } from './process.ts';

/** `warmwarden ...args` on a pseudo-terminal, which util-linux' `script` opens. Disposing it ends it. */
export class Terminal implements AsyncDisposable {
  readonly ended: Promise<void>;
  screen = '';
  readonly #child: ChildProcess;

  constructor(args: readonly string[]) {
    const line = [node, bin, ...args].map((word) => `'${word}'`).join(' ');
    const env = { PATH: process.env['PATH'], TERM: 'dumb' };
    this.#child = spawn('script', ['-qec', line, '/dev/null'], { cwd: root, env });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.screen += text;
    });
    this.ended = new Promise((resolve) => this.#child.once('close', () => resolve()));
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}
