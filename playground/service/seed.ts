import type { Store } from './store/index.ts';

const coffee: readonly { id: number; name: string; content: string; sample?: string }[] = [
  {
    id: 41,
    name: 'Announcement banner',
    content: `<aside aria-label="Announcement">
  <p>The winter roast is here. <a href="/pricing/">Try it with your first box</a>.</p>
</aside>`,
  },
  { id: 42, name: 'Free-shipping line', content: 'Shipping is <strong>free from 40 €</strong>.' },
  {
    id: 43,
    name: 'Price card',
    sample: '{ "plan": "pro", "currency": "EUR" }',
    content: `{%- case plan -%}
{%- when 'free' -%}{%- assign title = 'Tasting' -%}{%- assign price = '0' -%}
{%- when 'team' -%}{%- assign title = 'Office' -%}{%- assign price = '89' -%}
{%- else -%}{%- assign title = 'Daily' -%}{%- assign price = '19' -%}
{%- endcase -%}
<article class="price">
  <h2>{{ title }}</h2>
  <p><strong>{{ price }} {{ currency | default: 'EUR' }}</strong> a month</p>
  {%- if plan == 'free' %}
  <p>One sample bag, once. Then decide.</p>
  {%- elsif plan == 'team' %}
  <p>Five bags a week, ground as you like, and a person to call.</p>
  {%- else %}
  <p>Two bags a month, roasted on the Tuesday before.</p>
  {%- endif %}
</article>`,
  },
  {
    id: 44,
    name: 'Legal notice',
    content: `<p>Northwind Coffee Roasters Ltd, 7 Harbour Lane, registered under number 20 26 417.</p>
<p>Represented by its managing director, Ines Okafor. VAT number NW 417 26 20.</p>
<h2>Returns</h2>
<p>Coffee that does not taste goes back within thirty days, even opened. We will ask why, because we want to know.</p>
<h2>Liability</h2>
<p>We roast with care. What you brew is yours.</p>`,
  },
  {
    id: 45,
    name: 'Head: social card',
    content: `<meta property="og:site_name" content="Northwind Coffee">
<meta property="og:description" content="Roasted on Tuesdays &amp; with you by Thursday.">`,
  },
  { id: 46, name: 'Page title suffix', content: '| Northwind Coffee & Co.' },
  {
    id: 47,
    name: 'Opening hours',
    content: `<table>
  <caption>Opening hours of the roastery</caption>
  <tr><th scope="row">Tuesday to Friday</th><td>8 to 18</td></tr>
  <tr><th scope="row">Saturday</th><td>9 to 16</td></tr>
  <tr><th scope="row">Sunday and Monday</th><td>closed</td></tr>
</table>`,
  },
  {
    id: 48,
    name: 'Newsletter invitation',
    content: `<section class="card">
  <h2>Once a month, by mail</h2>
  <p>What we roast, where it grew, and a recipe that does not need a scale. <a href="mailto:hello@northwind.example?subject=Newsletter">Subscribe</a>.</p>
</section>`,
  },
];

/**
 * Fills a new database with a small organization, and a second one whose snippets the first must never see. A
 * database with organizations is left alone.
 */
export function seed(store: Store): void {
  if (store.organizations.list().length > 0) return;
  const northwind = store.organizations.create('Northwind Coffee');
  for (const { content, ...snippet } of coffee) {
    const { id } = store.snippets.create(northwind.id, { ...snippet, draft: content });
    store.snippets.publish(northwind.id, id, 'Ines Okafor');
  }
  store.snippets.create(northwind.id, { id: 49, name: 'Spring sale', draft: '<p>Not before March.</p>' });

  const books = store.organizations.create('Blue Harbor Books');
  store.snippets.create(books.id, { id: 60, name: 'Reading of the month', draft: '<p>A quiet one.</p>' });
  store.snippets.publish(books.id, 60);
}
