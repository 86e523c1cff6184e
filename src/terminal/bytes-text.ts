// Bytes for people: `512 B`, `24 KB`, `1.2 GB`.

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

export function bytesText(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || size >= 10 ? Math.round(size) : Number(size.toFixed(1))} ${units[unit]}`;
}
