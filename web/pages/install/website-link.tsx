import buttonStyles from '../../components/button.module.css';

/** Opens a website beside the portal. */
export function WebsiteLink({ href }: { href: string }) {
  return (
    <a className={buttonStyles.button} href={href} target="_blank" rel="noopener">
      Open website <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> in a new tab</span>
    </a>
  );
}
