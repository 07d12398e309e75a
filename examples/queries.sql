CREATE TABLE orders (
    order_id bigint,
    tenant text NOT NULL,
    customer_id bigint NOT NULL,
    status text NOT NULL,
    placed_at date NOT NULL,
    cents integer NOT NULL,
    PRIMARY KEY (customer_id, order_id)
);
CREATE TABLE customers (customer_id bigint PRIMARY KEY, name text);
SELECT sum(cents) FROM orders WHERE tenant = 'shop-7' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 203 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-34' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 502 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 308 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 249 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-15' AND placed_at >= '2026-06-01';
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 338 AND o.order_id = 222;
SELECT count(*) FROM orders WHERE status = 'new';
SELECT * FROM orders WHERE customer_id = 215 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 776 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 547 ORDER BY placed_at DESC LIMIT 20;
UPDATE orders SET status = 'paid' WHERE customer_id = 428 AND order_id = 149;
INSERT INTO orders VALUES (1514, 'acme', 828, 'new', '2026-12-31', 995);
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 694 AND o.order_id = 896;
SELECT * FROM orders WHERE customer_id = 544 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE order_id IN (833, 834);
SELECT * FROM orders WHERE customer_id = 841 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 51 ORDER BY placed_at DESC LIMIT 20;
SELECT count(*) FROM orders WHERE status = 'new';
SELECT * FROM orders WHERE customer_id = 521 ORDER BY placed_at DESC LIMIT 20;
SELECT count(*) FROM orders WHERE status = 'new';
UPDATE orders SET status = 'paid' WHERE customer_id = 14 AND order_id = 531;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-61' AND placed_at >= '2026-06-01';
SELECT sum(cents) FROM orders WHERE tenant = 'shop-56' AND placed_at >= '2026-06-01';
INSERT INTO orders VALUES (1526, 'acme', 730, 'new', '2026-12-31', 995);
UPDATE orders SET status = 'paid' WHERE customer_id = 210 AND order_id = 293;
UPDATE orders SET status = 'paid' WHERE customer_id = 673 AND order_id = 6;
SELECT * FROM orders WHERE customer_id = 23 ORDER BY placed_at DESC LIMIT 20;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 333 AND o.order_id = 1065;
SELECT * FROM orders WHERE customer_id = 345 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 687 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 810 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-15' AND placed_at >= '2026-06-01';
UPDATE orders SET status = 'paid' WHERE customer_id = 94 AND order_id = 1498;
INSERT INTO orders VALUES (1536, 'acme', 307, 'new', '2026-12-31', 995);
SELECT * FROM orders WHERE customer_id = 378 ORDER BY placed_at DESC LIMIT 20;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 405 AND o.order_id = 1304;
SELECT * FROM orders WHERE customer_id = 425 ORDER BY placed_at DESC LIMIT 20;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 476 AND o.order_id = 615;
SELECT * FROM orders WHERE customer_id = 455 ORDER BY placed_at DESC LIMIT 20;
SELECT count(*) FROM orders WHERE status = 'new';
UPDATE orders SET status = 'paid' WHERE customer_id = 330 AND order_id = 984;
SELECT * FROM orders WHERE customer_id = 853 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 774 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 113 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-26' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 158 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 625 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 618 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-31' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 126 ORDER BY placed_at DESC LIMIT 20;
UPDATE orders SET status = 'paid' WHERE customer_id = 84 AND order_id = 70;
SELECT * FROM orders WHERE order_id IN (621, 622);
INSERT INTO orders VALUES (1555, 'acme', 451, 'new', '2026-12-31', 995);
SELECT * FROM orders WHERE customer_id = 105 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-104' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 385 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 485 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 155 ORDER BY placed_at DESC LIMIT 20;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 84 AND o.order_id = 186;
SELECT * FROM orders WHERE customer_id = 619 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 297 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 601 ORDER BY placed_at DESC LIMIT 20;
INSERT INTO orders VALUES (1565, 'acme', 49, 'new', '2026-12-31', 995);
SELECT * FROM orders WHERE order_id IN (1113, 1114);
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 419 AND o.order_id = 626;
SELECT * FROM orders WHERE customer_id = 884 ORDER BY placed_at DESC LIMIT 20;
UPDATE orders SET status = 'paid' WHERE customer_id = 66 AND order_id = 1172;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-87' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 509 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 448 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 600 ORDER BY placed_at DESC LIMIT 20;
UPDATE orders SET status = 'paid' WHERE customer_id = 282 AND order_id = 1308;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-64' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 349 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-38' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 737 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 423 ORDER BY placed_at DESC LIMIT 20;
SELECT count(*) FROM orders WHERE status = 'new';
SELECT * FROM orders WHERE order_id IN (527, 528);
SELECT sum(cents) FROM orders WHERE tenant = 'shop-18' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 561 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 830 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 264 ORDER BY placed_at DESC LIMIT 20;
UPDATE orders SET status = 'paid' WHERE customer_id = 266 AND order_id = 1413;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 199 AND o.order_id = 818;
SELECT * FROM orders WHERE customer_id = 731 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 677 ORDER BY placed_at DESC LIMIT 20;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 658 AND o.order_id = 1331;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-51' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 401 ORDER BY placed_at DESC LIMIT 20;
UPDATE orders SET status = 'paid' WHERE customer_id = 384 AND order_id = 1366;
SELECT * FROM orders WHERE customer_id = 759 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 675 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 406 ORDER BY placed_at DESC LIMIT 20;
INSERT INTO orders VALUES (1597, 'acme', 145, 'new', '2026-12-31', 995);
SELECT * FROM orders WHERE customer_id = 570 ORDER BY placed_at DESC LIMIT 20;
UPDATE orders SET status = 'paid' WHERE customer_id = 84 AND order_id = 493;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 78 AND o.order_id = 1465;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-35' AND placed_at >= '2026-06-01';
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 807 AND o.order_id = 941;
SELECT * FROM orders WHERE customer_id = 320 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-86' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 182 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 582 ORDER BY placed_at DESC LIMIT 20;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 345 AND o.order_id = 210;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 147 AND o.order_id = 1469;
SELECT count(*) FROM orders WHERE status = 'new';
SELECT * FROM orders WHERE customer_id = 296 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE order_id IN (809, 810);
SELECT * FROM orders WHERE customer_id = 446 ORDER BY placed_at DESC LIMIT 20;
SELECT sum(cents) FROM orders WHERE tenant = 'shop-49' AND placed_at >= '2026-06-01';
SELECT * FROM orders WHERE customer_id = 806 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 234 ORDER BY placed_at DESC LIMIT 20;
SELECT * FROM orders WHERE customer_id = 25 ORDER BY placed_at DESC LIMIT 20;
SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)
    WHERE customer_id = 727 AND o.order_id = 860;
SELECT * FROM orders WHERE customer_id = 517 ORDER BY placed_at DESC LIMIT 20;
SELECT count(*) FROM orders WHERE status = 'new';
SELECT count(*) FROM orders WHERE status = 'new';
