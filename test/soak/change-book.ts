// Every POST that the simulated API saw, replayed: which change was made, and which was asked for although it was made already.
import type { LoggedRequest } from '../../tools/simulator/http.ts';

interface Known {
  mode: string;
  running: boolean;
}

/** Whether the API makes a change that it answers otherwise than with 200. */
export type UnsaidChange = 'made' | 'not_made';

export class ChangeBook {
  readonly #mailboxes = new Map<string, Known>();
  /** `EMAIL CHANGE`, in order. */
  readonly made: string[] = [];
  /** POSTs for what was so already. */
  readonly repeated: string[] = [];
  #seen: number;

  constructor(mailboxes: readonly { id: string; config: { mode: string }; running: boolean }[], now: number) {
    for (const { id, config, running } of mailboxes) this.#mailboxes.set(id, { mode: config.mode, running });
    this.#seen = now;
  }

  /** Takes over what was asked since the last time. */
  take(requests: readonly LoggedRequest[], unsaid: UnsaidChange): void {
    const fresh = requests.filter(({ at, method }) => at > this.#seen && method === 'POST');
    this.#seen = Math.max(this.#seen, ...requests.slice(-1).map(({ at }) => at));
    for (const { body, status } of fresh) this.#post(body ?? {}, status === 200 || unsaid === 'made');
  }

  #post({ mailbox_id: id, action, config }: NonNullable<LoggedRequest['body']>, isMade: boolean): void {
    const known = this.#mailboxes.get(String(id));
    if (!known) throw new Error(`the API knows no mailbox ${String(id)}`);
    const mode =
      typeof config === 'object' && config !== null && 'warmup_mode' in config ? String(config.warmup_mode) : null;
    const change = mode ?? String(action);
    const isSo = mode === null ? known.running === (action === 'resume') : known.mode === mode;
    if (isSo) this.repeated.push(`${String(id)} ${change}`);
    if (!isMade || isSo) return;
    this.made.push(`${String(id)} ${change}`);
    if (mode === null) known.running = action === 'resume';
    else known.mode = mode;
  }
}
