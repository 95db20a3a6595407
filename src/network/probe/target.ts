/** An address of a host name. */
export interface Target {
  address: string;
  family: 4 | 6;
  /** Whether the address policy allows connections to it. */
  allowed: boolean;
}
