import type { AuthorityOptions } from './authority.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';
import type { AcmeSession } from './session.ts';
import type { Directory } from './wire.ts';

/**
 * Registers the account of `key` (PEM), or finds it if it exists (RFC 8555 section 7.3), and updates its contact.
 * Resolves to the account's URL.
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
      'The certificate authority requires external account binding, which Homeport does not support; the operator must configure another authority.',
      { permanent: true },
    );
  }
  if (termsOfService !== undefined && !termsAgreed) {
    throw new AcmeRefusal(
      `${ERROR_NAMESPACE}userActionRequired`,
      "Certificates cannot be issued until the operator has agreed to the certificate authority's terms of service.",
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
