import ArchiveBoxIcon from '@heroicons/react/24/outline/ArchiveBoxIcon';
import BoltIcon from '@heroicons/react/24/outline/BoltIcon';
import ChartBarIcon from '@heroicons/react/24/outline/ChartBarIcon';
import CloudArrowUpIcon from '@heroicons/react/24/outline/CloudArrowUpIcon';
import Cog6ToothIcon from '@heroicons/react/24/outline/Cog6ToothIcon';
import DocumentTextIcon from '@heroicons/react/24/outline/DocumentTextIcon';
import EnvelopeIcon from '@heroicons/react/24/outline/EnvelopeIcon';
import GlobeAltIcon from '@heroicons/react/24/outline/GlobeAltIcon';
import KeyIcon from '@heroicons/react/24/outline/KeyIcon';
import PencilSquareIcon from '@heroicons/react/24/outline/PencilSquareIcon';
import Squares2X2Icon from '@heroicons/react/24/outline/Squares2X2Icon';
import type { ComponentType } from 'react';
import type { CapabilityName } from '../../api/capabilities.ts';
import type { Install } from '../../api/installs.ts';
import { onDemand } from '../../components/on-demand.ts';
import type { Verb } from '../../session/session.ts';
import type { Icon } from '../../shell/navigation.tsx';
import { Overview } from './overview/overview.tsx';

export interface SectionProps {
  install: Install;
}

/** A page of an install. */
export interface Section {
  /** Last segment of its address. */
  id: string;
  label: string;
  /** Its own icon in the sidebar, if it is the first section of its place. */
  Icon?: Icon;
  content: ComponentType<SectionProps>;
  /** What the host of an install must do for it. If it does not, the page says why. */
  needs?: CapabilityName;
}

/** Sections behind one link of the sidebar. The first one opens; tabs lead to the others. */
export interface Place {
  label: string;
  Icon: Icon;
  sections: readonly Section[];
}

const PLACES: readonly Place[] = [
  {
    label: 'Overview',
    Icon: Squares2X2Icon,
    sections: [{ id: 'overview', label: 'Overview', content: Overview }],
  },
  {
    label: 'Domains',
    Icon: GlobeAltIcon,
    sections: [
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
        id: 'redirects',
        label: 'Redirects',
        content: onDemand(
          () => import('./redirects/redirects-section.tsx'),
          ({ RedirectsSection }) => RedirectsSection,
        ),
      },
    ],
  },
  {
    label: 'WordPress',
    Icon: PencilSquareIcon,
    sections: [
      {
        id: 'wordpress',
        label: 'WordPress',
        needs: 'wordpress_details',
        content: onDemand(
          () => import('./wordpress/wordpress-section.tsx'),
          ({ WordPressSection }) => WordPressSection,
        ),
      },
      {
        id: 'wp-cli',
        label: 'WP-CLI',
        needs: 'wp_cli',
        content: onDemand(
          () => import('./wp-cli/wp-cli-section.tsx'),
          ({ WpCliSection }) => WpCliSection,
        ),
      },
      {
        id: 'mail',
        label: 'Mail',
        Icon: EnvelopeIcon,
        needs: 'mail_limits',
        content: onDemand(
          () => import('./mail/mail-section.tsx'),
          ({ MailSection }) => MailSection,
        ),
      },
    ],
  },
  {
    label: 'Backups',
    Icon: ArchiveBoxIcon,
    sections: [
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
        needs: 'imports',
        content: onDemand(
          () => import('./imports/imports-section.tsx'),
          ({ ImportsSection }) => ImportsSection,
        ),
      },
    ],
  },
  {
    label: 'Logs',
    Icon: DocumentTextIcon,
    sections: [
      {
        id: 'logs',
        label: 'Logs',
        needs: 'logs',
        content: onDemand(
          () => import('./logs/logs-section.tsx'),
          ({ LogsSection }) => LogsSection,
        ),
      },
    ],
  },
  {
    label: 'Usage',
    Icon: ChartBarIcon,
    sections: [
      {
        id: 'usage',
        label: 'Usage',
        content: onDemand(
          () => import('./usage/usage-section.tsx'),
          ({ UsageSection }) => UsageSection,
        ),
      },
    ],
  },
  {
    label: 'Caches',
    Icon: BoltIcon,
    sections: [
      {
        id: 'caches',
        label: 'Caches',
        content: onDemand(
          () => import('./caches/caches-section.tsx'),
          ({ CachesSection }) => CachesSection,
        ),
      },
    ],
  },
  {
    label: 'Offload',
    Icon: CloudArrowUpIcon,
    sections: [
      {
        id: 'offload',
        label: 'Offload',
        content: onDemand(
          () => import('./offload/offload-section.tsx'),
          ({ OffloadSection }) => OffloadSection,
        ),
      },
    ],
  },
  {
    label: 'Access',
    Icon: KeyIcon,
    sections: [
      {
        id: 'connect',
        label: 'Connect',
        content: onDemand(
          () => import('./connect/connect-section.tsx'),
          ({ ConnectSection }) => ConnectSection,
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
    ],
  },
  {
    label: 'Settings',
    Icon: Cog6ToothIcon,
    sections: [
      {
        id: 'settings',
        label: 'Settings',
        content: onDemand(
          () => import('./settings/settings-section.tsx'),
          ({ SettingsSection }) => SettingsSection,
        ),
      },
    ],
  },
];

/**
 * Returns the places that an install has for a user, in their order. An install that could not be created has no other than the first, and
 * one that is being created only those that do not depend on its host.
 */
export function placesOf({ status }: Install, may: (verb: Verb) => boolean): readonly Place[] {
  if (status === 'failed') return PLACES.slice(0, 1);
  // Without the right to change an install, users can only copy an active one there.
  const hasSettings = may('install.change') || (may('install.work') && status === 'active');
  const isThere = ({ id, needs }: Section) =>
    (needs === undefined || status === 'active') && (id !== 'settings' || hasSettings);
  return PLACES.flatMap((place) => {
    const sections = place.sections.filter(isThere);
    const [first, ...others] = sections;
    if (first === undefined) return [];
    // A link has the name of the page that it opens, unless that page has tabs.
    return [
      { label: others.length === 0 ? first.label : place.label, Icon: first.Icon ?? place.Icon, sections },
    ];
  });
}
