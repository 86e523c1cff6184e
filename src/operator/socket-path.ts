// Where the daemon of a store listens for operator commands: without its server, for those who only ask.

export function socketPathOf(storePath: string): string {
  return `${storePath}.sock`;
}
