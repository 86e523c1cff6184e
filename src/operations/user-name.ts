// Name of the person at this machine, for the audit log.
import { userInfo } from 'node:os';

/** Name of the user, or `uid 1000` if the machine has none, as in a container with a bare uid. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
