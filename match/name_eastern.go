// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Names of things in Chinese, Japanese and Korean have no spaces: the city, the name and the trade are one word.

// tails are the words of parts and of trades in scripts that put no space before them, folded, longest first.
var tails = func() []string {
	var list []string
	for w := range partsOf {
		if !ascii(w) {
			list = append(list, w)
		}
	}
	list = append(list, easternTrades...)
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return list
}()

// splitEastern splits the words for trades and parts off the end of a compound word.
func splitEastern(word string) []string {
	var buf [4]string
	at := len(buf) - 1
	for ; at > 0; at-- {
		rest, tail := cutTail(word)
		if tail == "" {
			break
		}
		word, buf[at] = rest, tail
	}
	buf[at] = word
	return slices.Clone(buf[at:])
}

// cutTail splits a word for a trade or a part off the end of a compound word.
func cutTail(word string) (rest, tail string) {
	for _, t := range tails {
		if rest, ok := strings.CutSuffix(word, t); ok && rest != "" {
			return rest, t
		}
	}
	return word, ""
}

// easternTrades are words that describe what a firm is, at the end of its name, folded.
var easternTrades = strings.Fields(fold(`
贸易 商贸 科技 技术 实业 集团 控股 投资 食品 餐饮 饭店 餐厅 酒店 宾馆 超市 商店 物流 运输 快递 建筑 建设 建材 工程 装饰 化工 化学 电子 电器 电气 软件 网络 信息
咨询 服务 管理 家具 纺织 服装 机械 设备 制造 材料 金属 生物 医药 制药 医院 药房 银行 保险 旅游 广告 传媒 文化 教育 培训 汽车 能源 环保 农业 印刷 置业 地产 房地产
商事 商会 工业 产业 物产 电机 食堂 运送 交通 观光 繊维 制作所 製薬 工务店 不动产 出版 铁工 自动车 酒造 水产 农园 诊所 歯科 技研 クリニック ホテル ソフト システム
サービス コンサルティング ホールディングス グループ
무역 상사 상회 건설 건축 전자 전기 물류 운송 식품 식당 섬유 화학 산업 공업 제약 기계 자동차 은행 보험 병원 의원 약국 치과 호텔 소프트 시스템 서비스 컨설팅 유통 개발
에너지 기술 정보 통신 가구 교육 여행 그룹 홀딩스`))

// easternPlaces are the places that names of firms begin with most often, folded: by law in China, and the provinces
// and largest cities of Japan and Korea.
var easternPlaces = strings.Fields(fold(`
北京 上海 天津 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 甘肃 青海 台湾 内蒙古 广西 西藏 宁夏 新疆 香港 澳门
广州 深圳 杭州 成都 武汉 南京 西安 苏州 郑州 长沙 青岛 沈阳 大连 宁波 厦门 无锡 佛山 东莞 合肥 福州 济南 哈尔滨 长春 石家庄 昆明 南昌 贵阳 南宁 太原 兰州 珠海 温州 泉州
东京 大阪 京都 横滨 名古屋 札幌 福冈 神户 仙台 广岛 北海道
서울 부산 대구 인천 광주 대전 울산`))

// placeEnds are the words that may follow the name of a place, folded.
var placeEnds = strings.Fields(fold(`市 省 县 府 都 시 특별시 광역시`))

// markPlace splits the place off the beginning of a name that is one word, if it is the city of the thing or one that
// many names begin with, and there is more than a trade behind it.
func (n *name) markPlace(p *TermFrequencies, city string) {
	if len(n.tokens) == 0 || len(n.tokens) == maxNameTokens || ascii(n.tokens[0].text) || !isEastern(n.tokens[0].text) {
		return
	}
	rest, place := cutPlace(n.tokens[0].text, city)
	if place == "" || rest == "" || slices.Contains(tails, rest) {
		return
	}
	where := token{text: place, hash: xxhash.Sum64String(place), letters: letters(place), where: true}
	where.weight, _ = p.weigh(place, where.hash, nameFamiliar)
	t := newToken(p, rest)
	n.total += where.weight + t.weight - n.tokens[0].weight
	n.tokens = slices.Concat([]token{where, t}, n.tokens[1:])
}

// cutPlace splits a word into the rest and the place that it begins with.
func cutPlace(word, city string) (rest, place string) {
	for _, end := range placeEnds {
		city = cmp.Or(strings.TrimSuffix(city, end), city)
	}
	if isEastern(city) {
		if rest, ok := strings.CutPrefix(word, city); ok {
			return cutEnd(rest), city
		}
	}
	for _, place := range easternPlaces {
		if rest, ok := strings.CutPrefix(word, place); ok && rest != "" {
			return cutEnd(rest), place
		}
	}
	return word, ""
}

// cutEnd cuts the word that follows the name of a place.
func cutEnd(word string) string {
	for _, end := range placeEnds {
		if rest, ok := strings.CutPrefix(word, end); ok && rest != "" {
			return rest
		}
	}
	return word
}
