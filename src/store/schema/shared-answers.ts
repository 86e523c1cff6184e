// One object for answers of one text, while a fleet is read: the mailboxes of a domain have the same DNS records, and those that are well
// the same details.
import type { RowKey } from '../failure.ts';
import { parsed } from './parsed.ts';

/** In what the other routes answer, hardly two mailboxes are alike. */
const sharedRoutes: readonly unknown[] = ['dns', 'mailbox'];
/** Then it begins anew. */
const maxTexts = 2_000;

export class SharedAnswers {
  readonly #byText = new Map<string, unknown>();

  /** `key`: that of the observation's row. Throws DamagedRowError. */
  read<Answer>(text: string, key: RowKey): Answer {
    if (!sharedRoutes.includes(key['route'])) return parsed<Answer>(text, 'observations', key);
    const known = this.#byText.get(text);
    if (known !== undefined) return known as Answer;
    const answer = parsed<Answer>(text, 'observations', key);
    if (this.#byText.size >= maxTexts) this.#byText.clear();
    this.#byText.set(text, answer);
    return answer;
  }
}
