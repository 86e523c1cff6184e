// Meanings of the API's words for a DNS record. Its document shows `pass` alone.

/** The words of `api.dns_words`, in lower case. */
export interface DnsWords {
  readonly passing: readonly string[];
  readonly failing: readonly string[];
  /** Nothing is known yet, or the check itself failed: neither an alert nor its end. */
  readonly unclear: readonly string[];
}

export const usualDnsWords: DnsWords = {
  passing: ['pass', 'passed', 'passing', 'valid', 'ok'],
  failing: ['fail', 'failed', 'failing', 'softfail', 'missing', 'none', 'invalid', 'not_found', 'permerror'],
  unclear: ['temperror', 'unknown', 'pending', 'checking', 'not_checked', 'error', 'timeout', 'neutral'],
};

/** Meaning of a status word: whether the record passes, `unlisted` for a word in none of the lists, or null if it is unclear. */
export function dnsWordState(status: string | null, words: DnsWords): boolean | 'unlisted' | null {
  const word = status?.trim().toLowerCase() ?? '';
  if (word === '' || words.unclear.includes(word)) return null;
  if (words.passing.includes(word)) return true;
  return words.failing.includes(word) ? false : 'unlisted';
}
