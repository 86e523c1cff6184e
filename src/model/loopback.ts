// Which hosts are this machine.

/** By name or by number; an IPv6 address with or without its brackets. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
