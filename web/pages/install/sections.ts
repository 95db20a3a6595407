import type { ComponentType } from 'react';
import type { Install } from '../../api/installs.ts';
import { onDemand } from '../../components/on-demand.ts';
import { Overview } from './overview/overview.tsx';

export interface SectionProps {
  install: Install;
}

interface Section {
  /** Last segment of its address. */
  id: string;
  label: string;
  content: ComponentType<SectionProps>;
  /** Only installs with WordPress have it. */
  needsWordPress?: true;
}

const SECTIONS: readonly Section[] = [
  { id: 'overview', label: 'Overview', content: Overview },
  {
    id: 'wordpress',
    label: 'WordPress',
    needsWordPress: true,
    content: onDemand(
      () => import('./wordpress/wordpress-section.tsx'),
      ({ WordPressSection }) => WordPressSection,
    ),
  },
  {
    id: 'domains',
    label: 'Domains',
    content: onDemand(
      () => import('./domains/domains-section.tsx'),
      ({ DomainsSection }) => DomainsSection,
    ),
  },
  {
    id: 'certificates',
    label: 'Certificates',
    content: onDemand(
      () => import('./certificates/certificates-section.tsx'),
      ({ CertificatesSection }) => CertificatesSection,
    ),
  },
  {
    id: 'backups',
    label: 'Backups',
    content: onDemand(
      () => import('./backups/backups-section.tsx'),
      ({ BackupsSection }) => BackupsSection,
    ),
  },
  {
    id: 'imports',
    label: 'Imports',
    content: onDemand(
      () => import('./imports/imports-section.tsx'),
      ({ ImportsSection }) => ImportsSection,
    ),
    needsWordPress: true,
  },
  {
    id: 'caches',
    label: 'Caches',
    content: onDemand(
      () => import('./caches/caches-section.tsx'),
      ({ CachesSection }) => CachesSection,
    ),
  },
  {
    id: 'offload',
    label: 'Offload',
    content: onDemand(
      () => import('./offload/offload-section.tsx'),
      ({ OffloadSection }) => OffloadSection,
    ),
  },
  {
    id: 'logs',
    label: 'Logs',
    content: onDemand(
      () => import('./logs/logs-section.tsx'),
      ({ LogsSection }) => LogsSection,
    ),
    needsWordPress: true,
  },
  {
    id: 'usage',
    label: 'Usage',
    content: onDemand(
      () => import('./usage/usage-section.tsx'),
      ({ UsageSection }) => UsageSection,
    ),
  },
  {
    id: 'mail',
    label: 'Mail',
    needsWordPress: true,
    content: onDemand(
      () => import('./mail/mail-section.tsx'),
      ({ MailSection }) => MailSection,
    ),
  },
  {
    id: 'protection',
    label: 'Protection',
    content: onDemand(
      () => import('./protection/protection-section.tsx'),
      ({ ProtectionSection }) => ProtectionSection,
    ),
  },
  {
    id: 'redirects',
    label: 'Redirects',
    content: onDemand(
      () => import('./redirects/redirects-section.tsx'),
      ({ RedirectsSection }) => RedirectsSection,
    ),
  },
  {
    id: 'connect',
    label: 'Connect',
    content: onDemand(
      () => import('./connect/connect-section.tsx'),
      ({ ConnectSection }) => ConnectSection,
    ),
  },
  {
    id: 'wp-cli',
    label: 'WP-CLI',
    needsWordPress: true,
    content: onDemand(
      () => import('./wp-cli/wp-cli-section.tsx'),
      ({ WpCliSection }) => WpCliSection,
    ),
  },
];

/** Returns the sections that an install has, in their order. */
export function sectionsOf({ php_version }: Install): readonly Section[] {
  // Every install with PHP runs WordPress.
  return SECTIONS.filter(({ needsWordPress }) => needsWordPress === undefined || php_version !== null);
}

/** Returns the label of a section that this install lacks because it has no WordPress. */
export function labelWithoutWordPress({ php_version }: Install, section: string): string | undefined {
  if (php_version !== null) return undefined;
  return SECTIONS.find(({ id, needsWordPress }) => id === section && needsWordPress)?.label;
}
