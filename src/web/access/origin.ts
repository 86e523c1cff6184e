// Whether a request that writes comes from a page of ours: browsers say where a form stands.

/** The headers of a request that tell of it. */
export interface Sender {
  readonly secFetchSite: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/** Whether a web page sent it: browsers say so. No page of ours sends anything but forms. */
export function isFromAnyPage({ secFetchSite, origin }: Pick<Sender, 'secFetchSite' | 'origin'>): boolean {
  return origin !== undefined || secFetchSite !== undefined;
}

/**
 * False for what a browser sends from another site. `publicUrl`: the configured address of the page, for proxies that
 * pass another Host on. What names no origin is no browser's; forms ask for their own token in any case.
 */
export function isFromOurPage({ secFetchSite, origin, host }: Sender, publicUrl: string | null): boolean {
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin' || secFetchSite === 'none';
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin).host;
  return from === host?.toLowerCase() || (publicUrl !== null && from === new URL(publicUrl).host);
}
