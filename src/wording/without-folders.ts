// A sentence about files, for people who may not learn where they are.

/** Names each file by its last part. An address, such as `postgres://host/name`, stays whole. */
export function withoutFolders(text: string): string {
  return text.replaceAll(/(?<![\w:/.])\/(?:[^\s/"'`]+\/)+/g, '');
}
