/** Installs without a site, which the list of sites counts. */
export function installsWithoutSite(): string[] {
  return ['create index installs_without_site on installs (account_id) where site_id is null'];
}
