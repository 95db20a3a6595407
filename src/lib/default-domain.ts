/** The host name at which an install always answers, and to which customers point their CNAME records (docs/api.md, Installs). */
export function defaultDomain(installName: string, siteDomain: string): string {
  return `${installName}.${siteDomain}`;
}
