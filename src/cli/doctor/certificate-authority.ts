import { readRoots } from '../../app/network-clients.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'certificate authority';

type Settings = Pick<Config, 'acmeDirectory' | 'acmeContact' | 'acmeCa' | 'acmeTermsAgreed'>;

/** Whether certificates can be had from an authority, as far as the settings go: it is not asked. */
export function checkCertificateAuthority(settings: Settings): Finding[] {
  const { acmeDirectory } = settings;
  const roots = checkRoots(settings);
  if (acmeDirectory === null) {
    return [roots ?? ok(CHECK, 'None is configured: the certificates of domains are self-signed.')];
  }
  const faults = [roots, checkTerms(settings), checkContact(settings)].filter((fault) => fault !== null);
  if (faults.length > 0) return faults;
  return [ok(CHECK, `Certificates come from ${new URL(acmeDirectory).host}.`)];
}

/** The server does not start without them, authority or not: what domain checks trust is among them. */
function checkRoots({ acmeCa }: Settings): Finding | null {
  if (acmeCa === null) return null;
  try {
    readRoots(acmeCa);
    return null;
  } catch (error) {
    return problem(
      CHECK,
      `${reasonOf(error)}.`,
      'Let HOMEPORT_ACME_CA name a file of PEM certificates that this user can read, or leave it out.',
    );
  }
}

function checkTerms({ acmeTermsAgreed }: Settings): Finding | null {
  if (acmeTermsAgreed) return null;
  return problem(
    CHECK,
    'Its terms are not agreed to, so it is asked for no certificate.',
    'Read the terms of the authority, and set HOMEPORT_ACME_TERMS_AGREED=true; or leave HOMEPORT_ACME_DIRECTORY out.',
  );
}

function checkContact({ acmeContact }: Settings): Finding | null {
  if (acmeContact !== null) return null;
  return warning(
    CHECK,
    'It is told no mail address, and nobody gets a mail before a certificate expires.',
    'Set HOMEPORT_ACME_CONTACT to the mail address of whoever runs this Homeport.',
  );
}
