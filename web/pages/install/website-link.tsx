import buttonStyles from '../../components/button.module.css';

/** Opens a website beside the portal. */
export function WebsiteLink({ href }: { href: string }) {
  return <OutwardLink href={href} label="Open website" />;
}

/** Opens where WordPress is administered. */
export function AdminLink({ websiteUrl }: { websiteUrl: string }) {
  return <OutwardLink href={new URL('wp-admin/', websiteUrl).href} label="WordPress admin" />;
}

function OutwardLink({ href, label }: { href: string; label: string }) {
  return (
    <a className={buttonStyles.button} href={href} target="_blank" rel="noopener">
      {label} <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> in a new tab</span>
    </a>
  );
}
