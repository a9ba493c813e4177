// Each heading is a button: it sorts by its column, and once more the other way round.
for (const heading of document.querySelectorAll('th[aria-sort]')) {
  const column = [...heading.parentElement.children].indexOf(heading);
  heading.querySelector('button').addEventListener('click', () => {
    const isAscending = heading.getAttribute('aria-sort') !== 'ascending';
    for (const other of heading.parentElement.children) other.setAttribute('aria-sort', 'none');
    heading.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
    const body = document.querySelector('tbody');
    const value = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
    const rows = [...body.rows].sort((a, b) => value(a).localeCompare(value(b), 'en', { numeric: true }));
    body.append(...(isAscending ? rows : rows.reverse()));
  });
}
