import { EXAMPLE_ID } from './example-ids.ts';
import { resourceName } from './resource-names.ts';

/** The identifiers that the description shows in examples. An endpoint's own examples use the same ones. */
const EXAMPLES: Record<string, string> = {
  account_id: EXAMPLE_ID.account,
  user_id: EXAMPLE_ID.user,
  site_id: EXAMPLE_ID.site,
  install_id: EXAMPLE_ID.install,
  destination_id: EXAMPLE_ID.otherInstall,
  domain_id: EXAMPLE_ID.domain,
  report_id: EXAMPLE_ID.report,
  backup_id: EXAMPLE_ID.backup,
  ssh_key_id: EXAMPLE_ID.sshKey,
  credential_id: EXAMPLE_ID.credential,
  transfer_id: EXAMPLE_ID.transfer,
  operation_id: EXAMPLE_ID.operation,
  webhook_id: EXAMPLE_ID.webhook,
  delivery_id: EXAMPLE_ID.delivery,
  redirect_id: EXAMPLE_ID.redirect,
  notification_id: EXAMPLE_ID.notification,
  deleted_install_id: EXAMPLE_ID.install,
  host_id: EXAMPLE_ID.host,
};

/** The example of an identifier, by the name of the parameter. */
export function exampleIdOf(name: string): string | undefined {
  return EXAMPLES[name];
}

/** Describes an identifier of a path: a UUID, except `plain` ones and the tokens of links. */
export function pathParameterOf(name: string, plain = false): object {
  const example = exampleIdOf(name);
  return {
    name,
    in: 'path',
    required: true,
    description: name === 'token' ? 'Token of the link' : `ID of the ${resourceName(name)}`,
    schema: plain || name === 'token' ? { type: 'string' } : { type: 'string', format: 'uuid' },
    ...(example === undefined ? {} : { example }),
  };
}
