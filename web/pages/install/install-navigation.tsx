import type { Install } from '../../api/installs.ts';
import { environmentLabel } from '../../components/environments.ts';
import { Navigation } from '../../shell/navigation.tsx';
import { InSidebar } from '../../shell/sidebar-place.ts';
import styles from './install-navigation.module.css';
import type { Place } from './sections.ts';

/** The places of an install, in the sidebar. */
export function InstallNavigation({
  install,
  places,
  section,
}: {
  install: Install;
  places: readonly Place[];
  /** The section that is open. */
  section: string;
}) {
  return (
    <InSidebar>
      <p className={styles.install}>
        <strong className={styles.name} title={install.name}>
          {install.name}
        </strong>
        <span className={styles.environment}>{environmentLabel(install.environment)}</span>
      </p>
      <Navigation
        label={`Sections of ${install.name}`}
        destinations={places.map((place) => ({
          href: addressOf(install, place.sections[0]?.id),
          label: place.label,
          Icon: place.Icon,
          current: currentOf(place, section),
        }))}
      />
    </InSidebar>
  );
}

/** Returns `location` if a tab leads to the open section. */
function currentOf({ sections: [first, ...others] }: Place, open: string) {
  if (first?.id === open) return 'page';
  return others.some(({ id }) => id === open) ? 'location' : undefined;
}

/** Returns the address of a section. The overview has the install's own address. */
export function addressOf({ id }: Install, section = 'overview'): string {
  return section === 'overview' ? `/installs/${id}` : `/installs/${id}/${section}`;
}
