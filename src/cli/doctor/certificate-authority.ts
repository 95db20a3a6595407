import { readRoots } from '../../app/network-clients.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'certificate authority';

type Settings = Pick<Config, 'acmeDirectory' | 'operatorEmail' | 'acmeCa' | 'acmeTermsAgreed'>;

/** Checks the settings of the certificate authority, without contacting it. */
export function checkCertificateAuthority(settings: Settings): Finding[] {
  const { acmeDirectory } = settings;
  const roots = checkRoots(settings);
  if (acmeDirectory === null) {
    return [roots ?? ok(CHECK, 'No authority is configured, so certificates of domains are self-signed.')];
  }
  const faults = [roots, checkTerms(settings), checkContact(settings)].filter((fault) => fault !== null);
  if (faults.length > 0) return faults;
  return [ok(CHECK, `Certificates come from ${new URL(acmeDirectory).host}.`)];
}

/** The server needs these roots even without an authority, because domain checks trust them. */
function checkRoots({ acmeCa }: Settings): Finding | null {
  if (acmeCa === null) return null;
  try {
    readRoots(acmeCa);
    return null;
  } catch (error) {
    return problem(
      CHECK,
      `${reasonOf(error)}.`,
      'Set HOMEPORT_ACME_CA to a file of PEM certificates that this user can read, or remove it.',
    );
  }
}

function checkTerms({ acmeTermsAgreed }: Settings): Finding | null {
  if (acmeTermsAgreed) return null;
  return problem(
    CHECK,
    'You have not agreed to its terms, so it issues no certificates.',
    'Read the terms of the authority and set HOMEPORT_ACME_TERMS_AGREED=true, or remove HOMEPORT_ACME_DIRECTORY.',
  );
}

function checkContact({ operatorEmail }: Settings): Finding | null {
  if (operatorEmail !== null) return null;
  return warning(
    CHECK,
    'The operator has no email address, so no email warns of expiring certificates.',
    'Set HOMEPORT_OPERATOR_EMAIL or HOMEPORT_ACME_CONTACT.',
  );
}
