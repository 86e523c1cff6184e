// Globs as the configuration writes them: * for any run of characters, ? for one, letters without case.

/** Whether the whole `text` fits `glob`. Takes at most glob x text steps, whatever the stars. */
export function fitsGlob(glob: string, text: string): boolean {
  if (glob === '*') return true;
  const pattern = glob.toLowerCase();
  const subject = text.toLowerCase();
  let p = 0;
  let s = 0;
  // After a mismatch the last star takes one character more; earlier stars never need to be asked again.
  let star = -1;
  let starTook = 0;
  while (s < subject.length) {
    if (pattern[p] === '*') {
      star = p++;
      starTook = s;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === subject[s])) {
      p++;
      s++;
    } else if (star >= 0) {
      p = star + 1;
      s = ++starTook;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Whether `pattern` names the mailbox: a glob on its address, or its exact id. */
export function namesMailbox(pattern: string, mailbox: { readonly email: string; readonly id: string }): boolean {
  return pattern === mailbox.id || fitsGlob(pattern, mailbox.email);
}
