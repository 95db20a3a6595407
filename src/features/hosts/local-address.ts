/** What begins the address of a host on the same machine. */
export const UNIX = 'unix:';

/** Whether a host is on the machine of whoever registered it, and reached there alone. */
export function isLocalAddress(address: string): boolean {
  return address.startsWith(UNIX);
}
