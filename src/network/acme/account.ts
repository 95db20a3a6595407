import type { AuthorityOptions } from './authority.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';
import type { AcmeSession } from './session.ts';
import type { Directory } from './wire.ts';

/**
 * Registers the account of `key` (PEM), or finds it (RFC 8555 section 7.3), and brings its contact up to date.
 * Resolves to its URL.
 */
export async function registerAccount(
  { acme, within }: AcmeSession,
  directory: Directory,
  { directoryUrl, contact, termsAgreed }: AuthorityOptions,
  key: string,
): Promise<string> {
  const { termsOfService, externalAccountRequired } = directory.meta ?? {};
  if (externalAccountRequired === true) {
    throw new AcmeRefusal(
      `${ERROR_NAMESPACE}externalAccountRequired`,
      'The certificate authority requires external account binding, which Homeport does not offer: the operator has to choose another authority.',
      { permanent: true },
    );
  }
  if (termsOfService !== undefined && !termsAgreed) {
    throw new AcmeRefusal(
      `${ERROR_NAMESPACE}userActionRequired`,
      "No certificates are issued, because the operator of this server has not agreed to the certificate authority's terms of service.",
      { permanent: true },
    );
  }
  const client = new acme.Client({ directoryUrl, accountKey: key });
  await within(
    client.createAccount({
      termsOfServiceAgreed: termsAgreed,
      ...(contact === null ? {} : { contact: [`mailto:${contact}`] }),
    }),
  );
  return client.getAccountUrl();
}
