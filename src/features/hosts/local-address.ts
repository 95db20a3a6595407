/** Prefix of the address of a host on the control plane's own machine. */
export const UNIX = 'unix:';

/** Whether a host is reached through a socket of the machine that registered it. */
export function isLocalAddress(address: string): boolean {
  return address.startsWith(UNIX);
}
