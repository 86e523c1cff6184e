// Version of this Warmwarden, from package.json.
import { readFileSync } from 'node:fs';

/** package.json is one folder above both src and dist. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
