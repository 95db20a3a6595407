import type { ComponentType } from 'react';
import { Link } from 'wouter';
import styles from './navigation.module.css';

/** An icon of `@heroicons/react`. */
export type Icon = ComponentType<{ className?: string }>;

/** A link of the sidebar. */
export interface Destination {
  href: string;
  label: string;
  Icon: Icon;
  /** `page`: it is open; `location`: another tab of it is; `true`: something below it is. */
  current?: 'page' | 'location' | 'true' | undefined;
}

/** A list of links in the sidebar. */
export function Navigation({
  label,
  destinations,
}: {
  /** Name of the list, for screen readers. */
  label: string;
  destinations: readonly Destination[];
}) {
  return (
    <nav aria-label={label} className={styles.navigation}>
      <ul>
        {destinations.map(({ href, label: name, Icon, current }) => (
          <li key={href}>
            <Link href={href} aria-current={current}>
              <Icon />
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
