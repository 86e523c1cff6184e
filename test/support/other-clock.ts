// Another clock for a process, by the library of Debian's package faketime, where it is installed: its wall clock differs from the
// machine's by what a file says, and can be set while it runs. Its monotonic clock is the machine's.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled } from './debian.ts';

export const isFaketimeInstalled = isInstalled('faketime');

const libraries = '/usr/lib';

export class OtherClock {
  readonly #file: string;

  /** `file`: where it is to be written; not there yet. */
  constructor(file: string) {
    this.#file = file;
    this.set(0);
  }

  /** From now on ahead of the machine's. */
  set(aheadSeconds: number): void {
    writeFileSync(this.#file, `+${aheadSeconds}s\n`);
  }

  /** For the environment of the process. */
  get env(): NodeJS.ProcessEnv {
    const name = 'faketime/libfaketimeMT.so.1';
    const folder = readdirSync(libraries).find((one) => one.endsWith('-linux-gnu'));
    return {
      LD_PRELOAD: join(libraries, folder ?? '', name),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
  }
}
