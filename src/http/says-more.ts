// Whether a list in an answer says that it goes on elsewhere (docs/faults.md S8): nobody may be taken for gone then.

const nextNames = ['next', 'next_page', 'next_page_url', 'next_cursor', 'cursor'];
const totalNames = ['total', 'total_count', 'count'];
const pageNames = ['page', 'current_page'];
const pagesNames = ['pages', 'total_pages', 'last_page'];
/** Where APIs put these signs, if not beside the list. */
const holders = ['meta', 'pagination', 'paging', 'links'];

type Fields = Readonly<Record<string, unknown>>;

/** `held`: the entries that have come, readable or not. */
export function saysMore(body: Fields, held: number): boolean {
  return [body, ...holders.map((name) => body[name])].some((one) => {
    if (typeof one !== 'object' || one === null) return false;
    const fields = one as Fields;
    return (
      nextNames.some((name) => Boolean(fields[name])) ||
      fields['has_more'] === true ||
      largest(fields, totalNames) > held ||
      // The first page is 1, or 0.
      largest(fields, pagesNames) > Math.max(1, largest(fields, pageNames))
    );
  });
}

/** The largest number, also as a text, under one of the names; without any, 0. */
function largest(fields: Fields, names: readonly string[]): number {
  const numbers = names.map((name) => fields[name]).filter((one) => ['number', 'string'].includes(typeof one));
  return Math.max(0, ...numbers.map(Number).filter(Number.isFinite));
}
