/** An address of a host name. */
export interface Target {
  address: string;
  family: 4 | 6;
  /** Whether the policy lets connections go there. */
  allowed: boolean;
}
