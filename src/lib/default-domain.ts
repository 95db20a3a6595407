/** The host name that always serves an install. Customers point CNAME records to it (docs/api.md, Installs). */
export function defaultDomain(installName: string, siteDomain: string): string {
  return `${installName}.${siteDomain}`;
}
