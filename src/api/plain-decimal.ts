// A plain decimal text, such as "98.50" (docs/faults.md S1, T2). An answer has a hundred: by hand, for an expression takes four times as long.

const [minus, dot, zero, nine] = ['-', '.', '0', '9'].map((letter) => letter.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];

/** Whether a text is digits, with a minus before them and a fraction behind them where it has these; blanks around it do not matter. */
export function isPlainDecimal(text: string): boolean {
  const plain = text.trim();
  let [digits, dots] = [0, 0];
  for (let at = plain.charCodeAt(0) === minus ? 1 : 0; at < plain.length; at += 1) {
    const code = plain.charCodeAt(at);
    if (code >= zero && code <= nine) digits += 1;
    else if (code === dot && dots === 0 && digits > 0) {
      dots = 1;
      // There have to be some behind it, too.
      digits = 0;
    } else return false;
  }
  return digits > 0;
}
