// The name of the person at this machine, for the audit log.
import { userInfo } from 'node:os';

/** The user's name; `uid 1000` where the machine has no name for the user, as in a container with a bare uid. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
