/** Names of resources in messages, by the parameter or field that identifies them. */
const NAMES: Record<string, string> = {
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
  passkey_id: 'passkey',
  credential_id: 'credential',
  transfer_id: 'transfer',
  operation_id: 'operation',
  webhook_id: 'webhook',
  delivery_id: 'delivery',
  redirect_id: 'redirect',
  notification_id: 'notification',
  deleted_install_id: 'install',
};

export function resourceName(name: string): string {
  return NAMES[name] ?? name;
}

/** The message for an identifier that is not a UUID (docs/api.md, Errors). */
export function malformedId(name: string): string {
  return `Invalid ${resourceName(name)} ID format`;
}
