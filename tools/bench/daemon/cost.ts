// What polling cost a process over some time.

export interface Cost {
  readonly polls: number;
  readonly seconds: number;
  readonly cpuMs: number;
  readonly writtenBytes: number;
  /** At the end. */
  readonly rssMegabytes: number;
}

export const cpuMsAPoll = ({ cpuMs, polls }: Cost) => cpuMs / polls;
export const bytesAPoll = ({ writtenBytes, polls }: Cost) => writtenBytes / polls;
export const pollsASecond = ({ polls, seconds }: Cost) => polls / seconds;
