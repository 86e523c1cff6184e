// The version of this Warmwarden, as package.json says it.
import { readFileSync } from 'node:fs';

/** For example `0.1.0`. The file stands one folder up from both src and dist. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
