/**
 * Looser than HOST_NAME: WordPress can run under any name that browsers accept, such as `old-.example.com`, and a restore reads the
 * names from its database.
 */
const HOST_AND_PORT = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/;

/** Whether URLs of a host, with or without a port, can be replaced in a database. */
export function isReplaceableHost(host: string): boolean {
  return HOST_AND_PORT.test(host);
}
