// The body of a request as text, up to a cap: what nobody needs is not read.

export const maxBodyBytes = 64 * 1024;

/** null when it is larger than we take. Hono's own limit fails on a chunked body: it makes a Request of node-server's. */
export async function bodyText({ body }: Request): Promise<string | null> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
