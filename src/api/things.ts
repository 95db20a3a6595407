/** What identifiers are called, by the name of their parameter or field. */
const THINGS: Record<string, string> = {
  account_id: 'account',
  user_id: 'user',
  site_id: 'site',
  install_id: 'install',
  domain_id: 'domain',
  report_id: 'report',
  backup_id: 'backup',
  ssh_key_id: 'SSH key',
  install_ids: 'install',
  session_id: 'session',
  credential_id: 'credential',
};

export function thingOf(name: string): string {
  return THINGS[name] ?? name;
}

/** What is said of an identifier that is no UUID, wherever it stands (gaps section 2, "bad UUID"). */
export function malformedId(name: string): string {
  return `Invalid ${thingOf(name)} ID format`;
}
